import { describe, expect, test } from 'vitest';
import { createFallbackEncoder } from '../../../../src/aacp/fallback/index.js';
import { caseOf, isSameCase } from '../../../../src/aacp/fallback/instruction/same-case.js';
import { memoryRegistry } from '../../../../src/aacp/fallback/registry/memory.js';

describe('capital letters tell instructions apart', () => {
  test.each([
    ['close ticket T-9', 'Close Ticket T-9', 'PROC|CS|filter:id=T-9', true],
    ['close ticket T-9', 'close ticket t-9', 'PROC|CS|filter:id=T-9', false],
    ['close ticket t-9', 'close ticket T-9', 'PROC|CS|filter:id=T-9', true],
    ['publish "Summer Deals"', 'publish "summer deals"', 'SEND|MKT|subj:Summer Deals', false],
    ['mail Ana@x.com', 'mail Ana@X.COM', 'SEND|MKT|to:Ana@x.com', true],
    ['mail Ana@x.com', 'mail ana@x.com', 'SEND|MKT|to:Ana@x.com', false],
    ['send the report', 'SEND THE REPORT', 'SEND|MKT|subj:report', true],
  ])('%s / %s', (kept, given, packet, same) => {
    expect(isSameCase(kept, given, packet)).toBe(same);
  });

  test('where they count', () => {
    expect(caseOf('Close the TICKET')).toBe('');
    expect(caseOf('Close ticket T-9')).not.toBe(caseOf('Close ticket t-9'));
  });
});

test('a repeated instruction with another id is not answered with the packet of the first', async () => {
  const encoder = createFallbackEncoder({
    registry: memoryRegistry({ clock: () => 0 }),
    model: async ({ instruction }) => {
      const id = instruction.slice(-3);
      return { text: `PROC|CS|return:CS-Agent|p:2|aacp:1.1|res:ticket|filter:id=${id}|req:close` };
    },
  });
  const options = { domain: 'CS' } as const;
  const first = await encoder.encode('Close ticket T-9', options);
  const again = await encoder.encode('CLOSE ticket T-9', options);
  const other = await encoder.encode('Close ticket t-9', options);
  await encoder.close();
  expect(first.packet).toContain('id=T-9');
  expect(again.packet).toBe(first.packet);
  expect(other.packet).toContain('id=t-9');
});
