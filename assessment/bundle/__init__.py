"""Reference data as a bundle: built once from the layers, mapped into memory by every assessment.

The path of a layer, from its file to a query:

    sources.py    where the layers and tables come from
    build.py      reads each layer once, as a stream; calls the modules below
    pieces.py     splits features into valid, single polygons of limited size
    spool.py      stores the vertices in a file while a layer is read
    arrange.py    writes the pieces in the order of a Hilbert curve (curve.py), with a tree of boxes
                  (boxtree.py)
    overlaps.py   finds the pieces that overlap others, once, at build time
    gate.py       checks the bundle before it is used; versions.py then makes it the current version
    bundle.py     opens a version; layer.py finds the pieces whose boxes meet a given box
"""
