-- Feature layers: table, geometry column, type, and how the coordinate system is declared.
select c.table_name, g.column_name, g.geometry_type_name, s.organization, s.organization_coordsys_id, s.definition
from gpkg_contents as c
join gpkg_geometry_columns as g on g.table_name = c.table_name
left join gpkg_spatial_ref_sys as s on s.srs_id = g.srs_id
where c.data_type = 'features'
order by c.table_name;
