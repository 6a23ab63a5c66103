-- Which column of a layer holds the ground.
insert into gpkg_geometry_columns values (:name, 'geom', 'MULTIPOLYGON', :srs, 0, 0);
