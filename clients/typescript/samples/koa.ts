// A receiver of webhooks with Koa: it verifies each delivery over the raw body, answers at once, and does each event once.
import { buffer } from 'node:stream/consumers'
import { parseEvent, type WebhookEvent, WebhookSignatureError } from 'health-interop/webhooks'
import Koa from 'koa'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const done = new Set<string>()

const app = new Koa()

// No body parser before this: the signature covers the bytes as they came.
app.use(async context => {
  if (context.method !== 'POST' || context.path !== '/webhooks') return
  const body = await buffer(context.req)
  try {
    const event = await parseEvent(body, context.get('X-Service-Signature'), secret)
    context.body = { received: true }
    handle(event)
  } catch (error) {
    if (!(error instanceof WebhookSignatureError)) throw error
    context.status = 400
    context.body = { error: error.reason }
  }
})

/** A delivery may come twice: in production keep the ids in your database. */
function handle(event: WebhookEvent): void {
  if (done.has(event.id)) return
  done.add(event.id)
  if (event.type === 'consent.revoked') console.log(`stop using data of ${event.data.health_id}`)
  else console.log(event.type)
}

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`)
})
