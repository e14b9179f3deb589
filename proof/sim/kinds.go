package sim

// Kind is a kind of act.
type Kind int

// The kinds of acts: one port call of a process, actions of shoppers and operators, and faults outside port calls.
const (
	actStep Kind = iota
	actRun
	actBuy
	actConsume
	actClose
	actTick
	actOpen
	actPay
	actNotify
	actCancel
	actLook
	actStop
	actGrow
	actJump
	actBrowse
	actAnomaly
	actImport
	actKill
	actFreeze
	actFlush
	actFailover
	actRestore
	actReadOnly
	actArrive
	actPoison
	actRedrive
	actGhost
	actClock
	actSchedule
	actNoSchedule
	actForge
	actLose
	actKeep
	actRefund
	actErase
	actSignIn
	actStream
	actTicket
	actBlock
	actSecret
	actFulfil
	actConsole
	nActs
)

// Act is one decision of a history. A history is a list of acts, and any part of it can be played: an act without an
// object does nothing.
type Act struct {
	Kind Kind
	ID   int    // of the process that it starts, steps or kills
	A    uint64 // its random choices
}

// pick extracts a choice among n from a.
func pick(a uint64, shift, n int) int { return int(a >> shift % uint64(n)) }
