"""Pythons that are built from Debian's source packages, asked of apt with lists of its own:
nothing of the system changes."""
import os
import subprocess
import sys

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {command[0]}: {done.stdout[-2000:]}")


def fetch(folder, release, version):
    """The unpacked source of that Debian release's package python3.NN."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / "apt" / name).mkdir(parents=True, exist_ok=True)
    (folder / "apt" / "sources").write_text(
        f"deb-src [signed-by={KEYRING}] http://deb.debian.org/debian {release} main\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={folder}/apt/sources",
           "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={folder}/apt/lists",
           "-o", f"Dir::Cache={folder}/apt/cache"]
    run(*apt, "update", folder=folder)
    run(*apt, "source", "--download-only", f"python{version}", folder=folder)
    archives = [path for path in folder.glob(f"python{version}_*.orig.tar.*")
                if path.suffix != ".asc"]
    run("tar", "-xf", archives[0], folder=folder)
    source, = folder.glob(f"Python-{version}.*")
    return source


def build(folder, source, *options):
    """Builds and installs it into folder/python."""
    run("./configure", f"--prefix={folder}/python", "--with-ensurepip=no", *options,
        folder=source)
    run("make", "-s", f"-j{len(os.sched_getaffinity(0))}", folder=source)
    run("make", "-s", "install", folder=source)
