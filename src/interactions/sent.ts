// The body of a FHIR reply on its way to the client.
import { type Encoded, encoded } from '../lib/pieces.ts'
import type { FhirReply, FhirRequest } from './request.ts'

/** Returns the body as it is sent, and gives back the memory of the request: the reply can be read no more. */
export async function sentBody(
  { body }: FhirReply,
  { memory }: Pick<FhirRequest, 'memory'>,
): Promise<string | Encoded | undefined> {
  const sent = typeof body === 'object' ? await encoded(body) : body
  memory.giveBack()
  return sent
}
