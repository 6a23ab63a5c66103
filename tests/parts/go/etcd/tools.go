//go:build tools

// Package tools pins the command that the tests build from this module.
package tools

import _ "go.etcd.io/etcd/server/v3"
