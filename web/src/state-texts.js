// What an order's states are called. They are texts of the parts of the page that list orders: the first look has none.

// name: [Chinese, English].
export const STATES = {
  state_queued: ['排队中', 'In the queue'],
  state_pending_payment: ['待付款', 'To pay'],
  state_closing: ['关闭中', 'Closing'],
  state_paid: ['已付款', 'Paid'],
  state_confirmed: ['已接单', 'Confirmed'],
  state_shipped: ['已发货', 'Shipped'],
  state_received: ['已收货', 'Received'],
  state_completed: ['已完成', 'Completed'],
  state_expired: ['已过期', 'Expired'],
  state_cancelled: ['已取消', 'Cancelled'],
  state_rejected: ['未抢到', 'Not sold'],
  state_refund_due: ['退款中', 'Refund due'],
  state_refunded: ['已退款', 'Refunded'],
  state_unknown: ['处理中', 'In progress'],
};
