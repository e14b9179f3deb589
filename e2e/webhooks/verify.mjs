// Verifies webhooks: one JSON object {secret, headers, body} a line in, "ok" or the error a line out.
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body } = JSON.parse(line);
  try {
    new Webhook(secret).verify(body, headers);
    console.log('ok');
  } catch (e) {
    console.log(e.message);
  }
}
