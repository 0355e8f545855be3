"""Report known vulnerabilities of the pinned versions, and check the installed weight packages.

Usage: python .ci/audit.py constraints.txt

Exit code 1: a vulnerability was found, or a weight file differs from its checksum. Where the
vulnerability data cannot be reached, that is printed, and only the checksums are checked.
"""

import json
import subprocess
import sys
from importlib.util import find_spec

from likewise.embedding.bundled.network import WEIGHTS_SHA256, weights_file
from likewise.embedding.registry import LITE0_PACKAGE


def vulnerabilities(requirements: str) -> tuple[list[str], int, int]:
    """Return one line per vulnerability, and the numbers of audited and of skipped packages."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", requirements, "--no-deps"]
    command += ["--disable-pip", "--progress-spinner", "off", "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if not run.stdout.strip():
        print(f"pip-audit failed: {run.stderr.strip()[-300:]}")
        return [], 0, 0
    packages = json.loads(run.stdout)["dependencies"]
    audited = [package for package in packages if "skip_reason" not in package]
    found = [
        f"{package['name']} {package['version']}: {issue['id']}, "
        f"fixed in {', '.join(issue['fix_versions']) or 'no release yet'}"
        for package in audited
        for issue in package["vulns"]
    ]
    return found, len(audited), len(packages) - len(audited)


def main() -> int:
    """Print the report; return the exit code."""
    found, n_audited, n_skipped = vulnerabilities(sys.argv[1])
    if n_audited:
        print(f"{n_audited} packages audited, {n_skipped} not known to the index.")
    else:
        print("The vulnerability data could not be reached: no package was audited.")
    if n_audited:
        print("\n".join(found) or "No known vulnerabilities.")
    for variant in WEIGHTS_SHA256:
        if variant == "lite0" and find_spec(LITE0_PACKAGE) is None:
            continue  # an extra
        print(f"{weights_file(variant).name}: SHA-256 as pinned.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
