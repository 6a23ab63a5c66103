module switchyard.test/argo

go 1.24

require github.com/argoproj/argo-workflows/v3 v3.7.0

// As the module itself has it: its code does not compile with later ones.
replace github.com/olekukonko/tablewriter => github.com/olekukonko/tablewriter v0.0.5
