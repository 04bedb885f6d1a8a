// Command helm is the real client, built from the published modules for the tests.
package main

import (
	"errors"
	"log/slog"
	"os"

	helm "helm.sh/helm/v4/pkg/cmd"
)

func main() {
	root, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err != nil {
		slog.Warn("command failed", slog.Any("error", err))
		os.Exit(1)
	}
	if err := root.Execute(); err != nil {
		var failed helm.CommandError
		if errors.As(err, &failed) {
			os.Exit(failed.ExitCode)
		}
		os.Exit(1)
	}
}
