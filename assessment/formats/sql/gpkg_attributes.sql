-- Make a plain table known.
insert into gpkg_contents (table_name, data_type, identifier) values (:name, 'attributes', :name);
