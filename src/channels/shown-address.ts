/** Returns an address without its user name and password, for messages. A password may hold any character, since the address may be invalid. */
export function shownAddress(address: string): string {
  return address.replace(/\/\/.*@/s, '//***@');
}
