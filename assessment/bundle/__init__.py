"""Reference data as a bundle: built once from the layers, mapped into memory by every assessment.

The path of a layer, from its file to a query:

    sources.py    where the layers and tables come from
    build.py      reads each layer once, as a stream; the loop of all that follows
    pieces.py     features become valid, single polygons that are small enough
    spool.py      while a layer is read, its vertices are in a file
    arrange.py    writes the pieces in the order of a Hilbert curve (curve.py), with a tree of boxes
                  (boxtree.py)
    overlaps.py   which pieces overlap another: found once, at build time
    gate.py       what must be right before the bundle is used; versions.py then makes it current
    bundle.py     opens a version; layer.py answers which pieces a box meets
"""
