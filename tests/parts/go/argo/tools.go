//go:build tools

// Package tools pins the command that the tests build from this module.
package tools

import _ "github.com/argoproj/argo-workflows/v3/cmd/workflow-controller"
