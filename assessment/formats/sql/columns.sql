-- Columns in order; the name is the second field.
pragma table_info(<table>);
