// The body of a FHIR reply on its way to the client.
import { type Encoded, encoded } from '../lib/pieces.ts'
import type { FhirReply } from './request.ts'

/** Returns the body as it is sent, and gives back what its parts were in: the reply can be read no more. */
export async function sentBody({ body, memory }: FhirReply): Promise<string | Encoded | undefined> {
  const sent = typeof body === 'object' ? await encoded(body) : body
  memory?.giveBack()
  return sent
}
