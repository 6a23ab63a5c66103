-- The National Grid, which our layers are in.
insert into gpkg_spatial_ref_sys values ('OSGB36 / British National Grid', 27700, 'EPSG', 27700, :definition, null);
