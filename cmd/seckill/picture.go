package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/cover"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/fake/memory"
)

func pictureCommand(shop *target) *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "picture FILE",
		Short: "Make a picture safe to show, and give it to the shop or put it into a folder",
		Long: `Check a JPEG or PNG picture by its content, encode it anew without what cameras write into it, such as
the place, and store it under a name made of its content: in the shop, or with --to in a folder. The
command prints the path for an item's covers. "seckill run --pictures FOLDER" shows a folder's pictures.

A picture for the shop has up to ` + fmt.Sprintf("%.1f MiB and %d million pixels; one for a folder %d MiB and %d\n"+
			"million; both up to %d a side.",
			float64(cover.Upload.Size)/(1<<20), cover.Upload.Pixels/1_000_000, cover.Large.Size>>20,
			cover.Large.Pixels/1_000_000, cover.MaxSide),
		Example: `  seckill items picture tea.jpg
  seckill items picture tea.jpg --stack seckill-prod
  seckill items picture tea.jpg --to pictures`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			data, err := io.ReadAll(io.LimitReader(f, int64(cover.Large.Size)+1))
			if err != nil {
				return err
			}
			limits := cover.Upload
			if to != "" {
				limits = cover.Large
			}
			p, err := cover.Make(data, limits) // only to report at once what is wrong: the shop makes its own picture
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			kept := operator.KeptOf(&p)
			if to != "" {
				if err := memory.PictureFolder(to).Put(cmd.Context(), &p); err != nil {
					return faultError{err}
				}
			} else {
				s, err := shop.shop(cmd)
				if err != nil {
					return err
				}
				if kept, err = give[operator.PictureKept](cmd, s, "", &operator.KeepPicture{Data: data}); err != nil {
					return err
				}
			}
			return say(cmd, "%s (%d by %d, %d KiB)", kept.Path, kept.Width, kept.Height, (kept.Bytes+1023)>>10)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "folder of pictures, in place of the shop")
	return cmd
}
