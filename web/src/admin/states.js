// What the pages know of an order's states, in the order of an order's life: the contract's status number, and the number
// that older systems give it, '' if none. A test holds them to package seckill's.
export const STATES = {
  queued: [7, 0],
  pending_payment: [1, 1],
  closing: [1, 1],
  paid: [2, 2],
  confirmed: [2, 4],
  shipped: [3, 7],
  received: [4, 8],
  completed: [4, 9],
  expired: [8, 3],
  cancelled: [9, 5],
  rejected: [10, ''],
  refund_due: [5, ''],
  refunded: [6, ''],
};

const OLDER_HIDDEN = 6; // the older number of a hidden order, whatever its state

/** Those that an order of the ledger may have. */
export const LISTED = Object.keys(STATES).slice(1);

export const older = (order) => (order.hidden ? OLDER_HIDDEN : (STATES[order.state]?.[1] ?? ''));
export const status = (order) => STATES[order.state]?.[0] ?? '';

/** Whether the goods have left: a refund never gives the units back then. */
export const goodsLeft = (state) => ['shipped', 'received', 'completed'].includes(state);

/** Whether nothing is left to do: such an order may be hidden. */
export const over = (state) => ['completed', 'expired', 'cancelled', 'rejected', 'refunded'].includes(state);

/** Whether an order's money may be sent back. */
export const refundable = (state) => ['paid', 'confirmed', 'shipped', 'received'].includes(state);

/** How a state looks: the class of its pill. */
export const look = (state) =>
  ({ paid: 'good', refund_due: 'bad', closing: 'wait', confirmed: 'good', shipped: 'good', received: 'good', completed: 'good' })[state] || '';
