{{- define "switchyard.config" -}}
{{ .Values.config | default (.Files.Get "switchyard.yaml") }}
{{- end -}}

{{- /* Named by its content, as kustomize does it: a change rolls the Deployments. */ -}}
{{- define "switchyard.configmap" -}}
switchyard-{{ include "switchyard.config" . | sha256sum | trunc 10 }}
{{- end -}}

{{- /* A namespace of the manifests -> the one of this installation. */ -}}
{{- define "switchyard.namespace" -}}
{{- $names := dict "switchyard" .root.Release.Namespace "workflows" .root.Values.namespaces.workflows "monitoring" .root.Values.namespaces.monitoring "ingress-nginx" .root.Values.namespaces.ingress -}}
{{ index $names .name | default .name }}
{{- end -}}

{{- define "switchyard.adapted" -}}
{{- $document := .document }}{{ $root := .root }}{{ $metadata := $document.metadata -}}
{{- if $metadata.namespace }}{{ $_ := set $metadata "namespace" (include "switchyard.namespace" (dict "name" $metadata.namespace "root" $root)) }}{{ end -}}
{{- if eq $document.kind "Namespace" }}{{ $_ := set $metadata "name" (include "switchyard.namespace" (dict "name" $metadata.name "root" $root)) }}{{ end -}}
{{- range $subject := default list $document.subjects }}{{ $_ := set $subject "namespace" (include "switchyard.namespace" (dict "name" $subject.namespace "root" $root)) }}{{ end -}}
{{- if eq $document.kind "NetworkPolicy" }}{{ include "switchyard.peers" . }}{{ end -}}
{{- if eq $document.kind "ServiceAccount" }}
{{- with index $root.Values.serviceAccountAnnotations $metadata.name }}{{ $_ := set $metadata "annotations" . }}{{ end -}}
{{- end -}}
{{- if eq $document.kind "Ingress" }}{{ include "switchyard.ingress" . }}{{ end -}}
{{- if has $document.kind (list "Deployment" "Job") }}{{ include "switchyard.pods" . }}{{ end -}}
{{ toYaml $document }}
{{- end -}}

{{- /* The namespaces that may come in. */ -}}
{{- define "switchyard.peers" -}}
{{- $root := .root -}}
{{- range $rule := default list .document.spec.ingress }}{{ range $peer := default list $rule.from }}
{{- with $peer.namespaceSelector.matchLabels }}
{{- $_ := set . "kubernetes.io/metadata.name" (include "switchyard.namespace" (dict "name" (index . "kubernetes.io/metadata.name") "root" $root)) }}
{{- end }}{{ end }}{{ end -}}
{{- end -}}

{{- define "switchyard.ingress" -}}
{{- $spec := .document.spec }}{{ $given := .root.Values.signalbox -}}
{{- $_ := set (first $spec.rules) "host" $given.host -}}
{{- $_ := set $spec "tls" (list (dict "hosts" (list $given.host) "secretName" $given.tlsSecret)) -}}
{{- with $given.ingressClass }}{{ $_ := set $spec "ingressClassName" . }}{{ end -}}
{{- end -}}

{{- /* Image, configuration, replicas and resources of a program. A Job is named by what it runs: it cannot be changed. */ -}}
{{- define "switchyard.pods" -}}
{{- $root := .root }}{{ $spec := .document.spec }}{{ $pod := $spec.template.spec }}{{ $container := first $pod.containers -}}
{{- $image := printf "%s:%s" $root.Values.image.repository $root.Values.image.tag -}}
{{- $_ := set $container "image" $image -}}
{{- with $root.Values.image.pullSecrets }}{{ $secrets := list }}{{ range . }}{{ $secrets = append $secrets (dict "name" .) }}{{ end }}{{ $_ := set $pod "imagePullSecrets" $secrets }}{{ end -}}
{{- range $volume := $pod.volumes }}{{ if $volume.configMap }}{{ $_ := set $volume.configMap "name" (include "switchyard.configmap" $root) }}{{ end }}{{ end -}}
{{- if eq .document.kind "Job" -}}
{{- $_ := set .document.metadata "name" (printf "migrate-%s" (printf "%s %s" $image (include "switchyard.configmap" $root) | sha256sum | trunc 10)) -}}
{{- end -}}
{{- if kindIs "map" .program -}}
{{- if hasKey .program "replicas" }}{{ $_ := set $spec "replicas" (int .program.replicas) }}{{ end -}}
{{- with .program.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- end -}}
{{- end -}}
