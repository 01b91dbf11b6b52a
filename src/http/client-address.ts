/**
 * Who a request is from, as far as the network says.
 *
 * @param peer - whom the connection is from; `undefined`: the host does not tell.
 * @param forwarded - the `X-Forwarded-For` header, to which each proxy adds whom it got the request from.
 * @param proxies - how many proxies of the host's own stand before it. What is further left in the header anybody may have
 * written.
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | undefined,
  proxies: number,
): string | undefined {
  const hops = forwarded === undefined ? [] : forwarded.split(",");
  // The last proxy is the peer, which no header names.
  const said = proxies === 0 ? peer : hops[hops.length - proxies];
  return toAddress(said ?? peer);
}

const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const ipv6 = /^[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?:\d{1,3}(?:\.\d{1,3}){3})?$/;

/** @returns `undefined` for what is no address. IPv4 in IPv6 is IPv4, as sockets of both have it. */
function toAddress(said: string | undefined): string | undefined {
  const text = said?.trim().toLowerCase() ?? "";
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.replace(/:\d+$/, "") : text);
  const address = bare.replace(/^::ffff:(?=[\d.]+$)/, "").replace(/%[\w.-]+$/, "");
  return ipv4.test(address) || ipv6.test(address) ? address : undefined;
}
