-- The tables that every GeoPackage 1.2 must have, and the systems that must be in them.
pragma application_id = 1196444487;
pragma user_version = 10200;
create table gpkg_spatial_ref_sys (
    srs_name text not null,
    srs_id integer not null primary key,
    organization text not null,
    organization_coordsys_id integer not null,
    definition text not null,
    description text
);
insert into gpkg_spatial_ref_sys values
    ('Undefined Cartesian', -1, 'NONE', -1, 'undefined', null),
    ('Undefined geographic', 0, 'NONE', 0, 'undefined', null),
    ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]', null);
create table gpkg_contents (
    table_name text not null primary key,
    data_type text not null,
    identifier text unique,
    description text default '',
    last_change datetime not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    min_x double,
    min_y double,
    max_x double,
    max_y double,
    srs_id integer references gpkg_spatial_ref_sys (srs_id)
);
create table gpkg_geometry_columns (
    table_name text not null unique references gpkg_contents (table_name),
    column_name text not null,
    geometry_type_name text not null,
    srs_id integer not null references gpkg_spatial_ref_sys (srs_id),
    z tinyint not null,
    m tinyint not null,
    primary key (table_name, column_name)
);
