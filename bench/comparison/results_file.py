"""bench/RESULTS.md: each program's figures stand between markers of its own, and
are replaced as a whole."""
import pathlib

DEFAULT = pathlib.Path(__file__).resolve().parent.parent / "RESULTS.md"


def markers(section):
    return (f"<!-- BEGIN {section} -->", f"<!-- END {section} -->")


def replaced(text, section, body):
    """`text` with the section's body new; at the end where there was none."""
    begin, end = markers(section)
    block = f"{begin}\n{body.strip()}\n{end}"
    if begin not in text:
        return f"{text.rstrip()}\n\n{block}\n"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{begin} without {end}")
    return before + block + after


def write(path, section, body):
    path = pathlib.Path(path)
    text = path.read_text() if path.exists() else "# Measured\n"
    path.write_text(replaced(text, section, body))


def add_options(parser, section):
    parser.add_argument("--write", action="store_true",
                        help="put the tables into --output")
    parser.add_argument("--output", default=DEFAULT, help="(%(default)s)")
    parser.add_argument("--section", default=section,
                        help="the part of it that is replaced (%(default)s)")


def tell(options, lines):
    """Prints the lines, and writes them where that was asked for."""
    text = "\n".join(lines).rstrip() + "\n"
    print(text, end="")
    if options.write:
        write(options.output, options.section, text)
