// The text shown when the service has started: its address, how to sign in, and three calls to try.
import { demoClient, demoUser } from '../identity/demo-accounts.ts'
import type { Config } from '../lib/config.ts'

/** The text printed at the start; without demo data only the address. */
export function banner(config: Config, address: string, isEmbedded: boolean): string {
  const database = isEmbedded ? `embedded PostgreSQL 18 in ${config.dataDir}` : 'the PostgreSQL of DATABASE_URL'
  const head = `
  health-interop is running at ${address}
  environment ${config.environment}, ${config.workers} process${config.workers === 1 ? '' : 'es'}, ${database}
  FHIR R4  ${address}/api/fhir/R4        OpenAPI  ${address}/openapi.json
`
  if (config.environment !== 'local') return `${head}\n`
  return `${head}
  Demo client   ${demoClient.id} / ${demoClient.secret}
  Portal        ${address}/portal   (${demoUser.email} signs in with one click)

  1. Get an access token
     TOKEN=$(curl -s ${address}/api/v1/connect/auth/token \\
       -d grant_type=client_credentials -d client_id=${demoClient.id} -d client_secret=${demoClient.secret} \\
       | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  2. Find a patient by Health ID
     curl -s -H "Authorization: Bearer $TOKEN" '${address}/api/fhir/R4/Patient?identifier=CM-TQYE-6SRK-YQ6S'
  3. Read the latest blood pressures of this patient
     curl -s -H "Authorization: Bearer $TOKEN" '${address}/api/fhir/R4/Observation?patient=amina-bello&code=85354-9&_sort=-date&_count=3'

  Stop with Ctrl-C.
`
}
