// What the webhook operations have in common.

import { bearer } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'

export const webhooks = '/api/v1/connect/webhooks'
export const subscriptions = `${webhooks}/subscriptions`

export const common = { tag: 'Connect', access: bearer('webhooks:manage') }

export const subscriptionParam = Type.Object({
  subscription_id: Type.String({ maxLength: 100, description: 'The id of the subscription: whs_…' }),
})
