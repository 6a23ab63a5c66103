//go:build tools

// Package tools pins the command that the tests build.
package tools

import _ "sigs.k8s.io/kustomize/kustomize/v5"
