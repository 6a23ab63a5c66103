//go:build tools

// Package tools pins the command that the tests build from this module.
package tools

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
