package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/your-org/seckill/shared/seckill"
)

// maxPictures is how many bytes of pictures a process keeps.
const maxPictures = 64 << 20

// Pictures keeps pictures as long as the process. Its zero value is ready for use.
type Pictures struct {
	mu   sync.Mutex
	all  map[string][]byte
	size int
}

// Put implements seckill.Pictures.
func (m *Pictures) Put(_ context.Context, p *seckill.Picture) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.all[p.Name]; ok {
		return nil
	}
	if m.size+len(p.Data) > maxPictures {
		return fmt.Errorf("pictures: %d MiB of pictures is all that the memory takes: give a folder", maxPictures>>20)
	}
	if m.all == nil {
		m.all = map[string][]byte{}
	}
	m.all[p.Name], m.size = p.Data, m.size+len(p.Data)
	return nil
}

// Get implements seckill.Pictures.
func (m *Pictures) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, ok := m.all[name]; ok {
		return data, nil
	}
	return nil, seckill.ErrNoPicture
}
