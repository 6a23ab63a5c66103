-- Make a layer known, with its extent.
insert into gpkg_contents (table_name, data_type, identifier, min_x, min_y, max_x, max_y, srs_id)
values (:name, 'features', :name, :west, :south, :east, :north, :srs);
