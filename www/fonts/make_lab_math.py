"""Makes lab-math.woff2, the page's mathematics font: python3 make_lab_math.py SOURCE.otf TARGET.woff2"""

import string
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

UPRIGHT = string.digits + string.ascii_letters + " ()[]{}|/,.;:!?+<=>*'\"%&#@_-"
OPERATORS = "−±×·⋅√∑∞∂∇∈≤≥≠≈→⊤‖∥′…⋯½–‘’“”\u2061\u2062\u2063"
GREEK = "αβδεθλμπσΔΣ"
# MathML draws a one-letter <mi> with these: italic A–Z, a–z (h is ℎ), and the Greek above in italics.
ITALIC = [*range(0x1D434, 0x1D468), 0x210E, *(0x1D6FC + ord(c) - ord("α") for c in GREEK if c >= "α")]


# Letters and digits that stand in subscripts have shapes of their own there; the others are scaled.
SCRIPT = [*(ord(c) for c in string.digits + "−,"), *range(0x1D44E, 0x1D468), 0x210E, 0x1D6FC]


def keep_script_forms(font: TTFont) -> None:
    """Drops the smaller shapes of everything that is not in SCRIPT."""
    cmap = font.getBestCmap()
    keep = {cmap[c] for c in SCRIPT if c in cmap}
    table = font["GSUB"].table
    for feature in table.FeatureList.FeatureRecord:
        if feature.FeatureTag != "ssty":
            continue
        for index in feature.Feature.LookupListIndex:
            for sub in table.LookupList.Lookup[index].SubTable:
                sub = getattr(sub, "ExtSubTable", sub)
                if hasattr(sub, "alternates"):
                    sub.alternates = {g: a for g, a in sub.alternates.items() if g in keep}


def main(source: str, target: str) -> None:
    font = TTFont(source)
    options = subset.Options()
    options.flavor = "woff2"
    options.layout_features = ["ssty"]
    options.hinting = False
    options.desubroutinize = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.notdef_outline = True
    options.glyph_names = False
    options.drop_tables += ["FFTM", "DSIG"]
    keep_script_forms(font)
    subsetter = subset.Subsetter(options)
    wanted = [ord(c) for c in UPRIGHT + OPERATORS + GREEK] + ITALIC
    subsetter.populate(unicodes=wanted)
    subsetter.subset(font)
    names = font["name"]
    for record in list(names.names):
        renamed = {1: "Lab Math", 3: "Lab Math subset of TeX Gyre Pagella Math", 4: "Lab Math", 6: "LabMath-Regular"}
        if record.nameID in renamed:
            names.setName(renamed[record.nameID], record.nameID, record.platformID, record.platEncID, record.langID)
    subset.save_font(font, target, options)


if __name__ == "__main__":
    main(*sys.argv[1:])
