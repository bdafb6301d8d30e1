// IP addresses and networks as people write them.
import { BlockList, isIP } from 'node:net'

/** Addresses and networks, `10.0.0.0/8,::1`, as a list to look addresses up in. @throws Error for one that is neither. */
export function networks(text: string): BlockList {
  const list = new BlockList()
  for (const entry of text.split(',').map(part => part.trim())) {
    if (entry === '') continue
    const [address = '', length, ...more] = entry.split('/')
    const family = isIP(address)
    const bits = length === undefined ? undefined : Number(length)
    const isLength = bits === undefined || (/^\d{1,3}$/.test(length!) && bits <= (family === 4 ? 32 : 128))
    if (family === 0 || !isLength || more.length > 0) throw new Error('IP addresses or networks, e.g. 10.0.0.0/8,::1')
    if (bits === undefined) list.addAddress(address, family === 4 ? 'ipv4' : 'ipv6')
    else list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
