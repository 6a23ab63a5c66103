package main

import "github.com/jackc/pgx/v5"

// The transaction type of River's driver for pgx.
type pgxTx = pgx.Tx
