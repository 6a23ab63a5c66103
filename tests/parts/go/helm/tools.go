//go:build tools

// Package tools pins the command that the tests build.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
