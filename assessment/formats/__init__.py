"""Vector files as arrays: GDAL (pyogrio) reads them, pyarrow reads GeoParquet.

`read.features` reads an upload and runs only in the process with limits (`assessment.intake.child`);
`layers.open_layer_source` streams a layer of the operator's own reference data.
"""
