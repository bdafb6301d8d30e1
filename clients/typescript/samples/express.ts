// A receiver of webhooks with Express: it verifies each delivery over the raw body, answers at once, and does each event once.
import express from 'express'
import { parseEvent, type WebhookEvent, WebhookSignatureError } from 'health-interop/webhooks'

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const done = new Set<string>()

const app = express()

// express.raw, not express.json: the signature covers the bytes as they came.
app.post('/webhooks', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  try {
    const event = await parseEvent(request.body, request.header('X-Service-Signature'), secret)
    response.json({ received: true })
    handle(event)
  } catch (error) {
    if (!(error instanceof WebhookSignatureError)) throw error
    response.status(400).json({ error: error.reason })
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
