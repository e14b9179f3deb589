package memory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/your-org/seckill/shared/seckill"
)

// PictureFolder keeps pictures as files of a folder, by its path.
type PictureFolder string

// Put implements seckill.Pictures.
func (folder PictureFolder) Put(_ context.Context, p *seckill.Picture) error {
	if err := os.MkdirAll(string(folder), 0o755); err != nil {
		return err
	}
	name := filepath.Join(string(folder), p.Name)
	if _, err := os.Stat(name); err == nil {
		return nil // a name is made of the content
	}
	f, err := os.CreateTemp(string(folder), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it is gone when it was renamed
	_, err = f.Write(p.Data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return err
}

// Get implements seckill.Pictures. It reads regular files alone.
func (folder PictureFolder) Get(_ context.Context, name string) ([]byte, error) {
	path := filepath.Join(string(folder), filepath.Base(name))
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, seckill.ErrNoPicture
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
