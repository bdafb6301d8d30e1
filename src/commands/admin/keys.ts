// npm run admin -- keys …: the keys that sign access tokens.
import { encryptionKey } from '../../lib/encryption.ts'
import { type AdminCommand, listing, mustBeNone } from './command.ts'

export const keysRotate: AdminCommand = {
  name: 'keys rotate',
  usage: '',
  summary: 'Rotate the signing key of access tokens and publish the next one',
  details: 'Existing tokens remain valid. The service rotates the key automatically every 90 days.',
  options: {},
  async run(call) {
    mustBeNone(call)
    const { database } = call
    const { createKeys, rotateKeys } = await import('../../identity/keys.ts')
    const { tokenLifetime } = await import('../../identity/tokens.ts')
    const key = await encryptionKey(call.config)
    // Reading the present keys proves that the new one will be sealed under the key that the service has.
    const keys = await createKeys({ database, encryptionKey: key, now: Date.now, lifetime: tokenLifetime })
    const before = keys.active().kid
    await rotateKeys(database, key)
    await keys.load()
    const { kid } = keys.active()
    return {
      isGood: true,
      text: listing([
        ['active', kid],
        ['retired', before],
      ]),
      json: { active: kid, retired: before },
    }
  },
}
