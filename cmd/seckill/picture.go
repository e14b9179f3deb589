package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/cover"
)

func pictureCommand() *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "picture FILE --to FOLDER",
		Short: "Make a picture safe to show, and put it into a folder",
		Long: `Check a JPEG or PNG picture by its content, encode it anew without what cameras write into it, such as
the place, and put it into a folder under a name made of its content. The command prints the path for
an item's covers. "seckill run --pictures FOLDER" shows the folder's pictures; for a stack, copy the
folder to where your pictures are, and write that https address in front of the name.

A picture has up to ` + strconv.Itoa(cover.MaxSize>>20) + ` MiB, ` + strconv.Itoa(cover.MaxSide) + ` pixels a side and ` +
			strconv.Itoa(cover.MaxPixels/1_000_000) + ` million in all.`,
		Example: `  seckill items picture tea.jpg --to pictures`,
		Args:    exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return fmt.Errorf("--to FOLDER is missing")
			}
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			data, err := io.ReadAll(io.LimitReader(f, cover.MaxSize+1))
			if err != nil {
				return err
			}
			p, err := cover.Make(data)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			path, err := cover.Keep(to, &p)
			if err != nil {
				return faultError{err}
			}
			return say(cmd, "%s (%d by %d, %d KiB)", path, p.Width, p.Height, (len(p.Data)+1023)>>10)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder of pictures")
	return cmd
}
