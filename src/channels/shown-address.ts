/** Returns an address without its user name and password, for messages. */
export function shownAddress(address: string): string {
  return address.replace(/\/\/[^/?#]*@/, '//***@');
}
