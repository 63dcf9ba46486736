"""Writes about 20 MB of well logs, the same ones every time.

usage: generate.py FOLDER [MEGABYTES]

A well log is what instruments lowered into a borehole measured, one line per
depth. The files are LAS 2.0: sections that begin with `~`, header lines
`MNEM.UNIT value : description`, then a table of numbers. The rock here is made
up: layers of sand, shale, limestone and coal, each with typical readings.
"""
import os
import random
import sys

NULL = -999.25
STEP_M = 0.1524

# mnemonic: (unit, description)
CURVES = {
    'GR': ('GAPI', 'Gamma ray'),
    'RHOB': ('G/C3', 'Bulk density'),
    'NPHI': ('V/V', 'Neutron porosity'),
    'DT': ('US/F', 'Sonic travel time'),
    'RT': ('OHMM', 'Deep resistivity'),
    'RXO': ('OHMM', 'Shallow resistivity'),
    'SP': ('MV', 'Spontaneous potential'),
    'CALI': ('IN', 'Caliper'),
    'PEF': ('B/E', 'Photoelectric factor'),
    'TEMP': ('DEGC', 'Temperature'),
    'TENS': ('LBF', 'Cable tension'),
}

# Typical reading of each curve in each rock, in the order of CURVES.
ROCKS = {
    'SAND': (35.0, 2.30, 0.18, 85.0, 20.0, 12.0, -60.0, 8.4, 1.9, 0.0, 0.0),
    'SHALE': (110.0, 2.45, 0.32, 105.0, 3.0, 2.5, -10.0, 9.8, 3.2, 0.0, 0.0),
    'LIMESTONE': (20.0, 2.65, 0.06, 52.0, 180.0, 90.0, -25.0, 8.5, 4.9, 0.0, 0.0),
    'COAL': (45.0, 1.40, 0.48, 130.0, 400.0, 250.0, -15.0, 9.1, 0.2, 0.0, 0.0),
}

PARAMETERS = (  # with a typical value
    ('BHT', 'DEGC', 'Bottom hole temperature', 85.0),
    ('BS', 'IN', 'Bit size', 8.5),
    ('FD', 'K/M3', 'Fluid density', 1100.0),
    ('PBVS', 'PU', 'Porosity cut-off', 10.0),
    ('RMF', 'OHMM', 'Mud filtrate resistivity', 0.2),
)


class Well:
    """One borehole: a name, a depth range, the curves run in it, its layers."""

    def __init__(self, number, depth_steps, rnd):
        self.name = 'KESTREL-%d' % number
        self.start_m = 200.0 + 50.0 * rnd.randrange(20)
        self.depth_steps = depth_steps
        self.curves = list(CURVES)[:rnd.randint(6, len(CURVES))]
        self.rnd = rnd

    def layers(self):
        """Yields (rock, thickness in steps) down to the bottom."""
        left = self.depth_steps
        while left > 0:
            rock = self.rnd.choice(list(ROCKS))
            thickness = min(left, self.rnd.randint(20, 400))
            yield rock, thickness
            left -= thickness

    def rows(self):
        """Yields the lines of the table."""
        gauss = self.rnd.gauss
        chance = self.rnd.random
        depth_m = self.start_m
        for rock, thickness in self.layers():
            typical = ROCKS[rock][:len(self.curves)]
            for _ in range(thickness):
                words = ['%10.4f' % depth_m]
                for value in typical:
                    if chance() < 0.02:  # the tool lost contact
                        words.append('%10.4f' % NULL)
                    else:
                        words.append('%10.4f' % (value + gauss(0.0, 0.03) * (1.0 + abs(value))))
                yield ' '.join(words)
                depth_m += STEP_M

    def header(self):
        stop_m = self.start_m + STEP_M * (self.depth_steps - 1)
        yield '~Version'
        yield ' VERS.   2.0 : CWLS log ASCII standard, version 2.0'
        yield ' WRAP.   NO : One line per depth step'
        yield '~Well'
        yield ' STRT.M  %.4f : First depth' % self.start_m
        yield ' STOP.M  %.4f : Last depth' % stop_m
        yield ' STEP.M  %.4f : Step' % STEP_M
        yield ' NULL.   %.2f : Null value' % NULL
        yield ' WELL.   %s : Well' % self.name
        yield ' FLD .   Kestrel <North & South> : Field'
        yield '~Parameter'
        for mnemonic, unit, description, typical in PARAMETERS:
            value = typical * self.rnd.uniform(0.8, 1.2)
            yield ' %s.%s  %.3f : %s' % (mnemonic, unit, value, description)
        yield '~Curve'
        yield ' DEPT.M  : Depth'
        for mnemonic in self.curves:
            yield ' %s.%s  : %s' % ((mnemonic,) + CURVES[mnemonic])
        yield '~Ascii'

    def write(self, folder):
        path = os.path.join(folder, self.name + '.las')
        with open(path, 'w', encoding='ascii') as f:
            for line in self.header():
                f.write(line + '\n')
            for line in self.rows():
                f.write(line + '\n')
        return os.path.getsize(path)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split('\n\n')[1])
    folder = sys.argv[1]
    total = int(float(sys.argv[2] if len(sys.argv) == 3 else 20) * 1e6)
    os.makedirs(folder, exist_ok=True)
    rnd = random.Random(20)
    written = number = 0
    while written < total:
        number += 1
        # Most wells are shallow; every ninth is a deep one, ten times as long.
        steps = rnd.randint(1500, 4500) * (10 if number % 9 == 4 else 1)
        written += Well(number, steps, random.Random(number)).write(folder)
    print('%d wells, %.1f MB in %s' % (number, written / 1e6, folder))


if __name__ == '__main__':
    main()
