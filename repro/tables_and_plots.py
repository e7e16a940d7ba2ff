"""Tables and plots of the reproductions."""

import csv


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"wrote {path}")


def pyplot():
    """matplotlib.pyplot, or nothing where it is not installed: then there are no plots."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plots

        return plots
    except ImportError:
        print("no plots: the package python3-matplotlib is not installed")
        return None


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")
