package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// newCompletion prints what completes `lnk` in a shell: people type `lnk
// sandbox`, and never the name of the plugin's own binary. The script asks `lnk
// __complete <words>`, which has the plugin that they name answer.
func newCompletion(s Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what completes lnk's commands and flags in a shell",
		Long: "Prints what completes lnk's commands and flags in a shell.\n\n" +
			"  bash:       source <(lnk sandbox completion bash)      in ~/.bashrc,\n" +
			"              behind bash-completion, which it needs\n" +
			"  zsh:        source <(lnk sandbox completion zsh)       in ~/.zshrc, behind compinit\n" +
			"  fish:       lnk sandbox completion fish | source       in config.fish\n" +
			"  powershell: lnk sandbox completion powershell | Out-String | Invoke-Expression",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := writeCompletion(s.Out, args[0]); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
	return c
}

func writeCompletion(w io.Writer, shell string) error {
	lnk := &cobra.Command{Use: "lnk"}
	switch shell {
	case "bash":
		return lnk.GenBashCompletionV2(w, true)
	case "zsh":
		return lnk.GenZshCompletion(w)
	case "fish":
		return lnk.GenFishCompletion(w, true)
	}
	return lnk.GenPowerShellCompletionWithDesc(w)
}
