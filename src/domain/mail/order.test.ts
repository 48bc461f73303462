import { expect, test } from "bun:test";
import fc from "fast-check";
import { byUrgency, deliveriesByUrgency } from "./order.ts";
import { priorities, priorityRank } from "./types.ts";

test("urgent mail comes first, and equals keep the order of sending", () => {
  const sent = [
    { seq: 1, priority: "low" },
    { seq: 2, priority: "normal" },
    { seq: 3, priority: "urgent" },
    { seq: 4, priority: "normal" },
    { seq: 5, priority: "high" },
    { seq: 6, priority: "urgent" },
  ] as const;
  expect([...sent].sort(byUrgency).map(({ seq }) => seq)).toEqual([3, 6, 5, 2, 4, 1]);
});

test("messages and their deliveries sort alike, whatever order they were read in", () => {
  const message = fc.record({ seq: fc.nat(10_000), priority: fc.constantFrom(...priorities) });
  fc.assert(
    fc.property(fc.uniqueArray(message, { selector: ({ seq }) => seq }), (messages) => {
      const deliveries = messages.map(({ seq, priority }) => ({
        messageSeq: seq,
        priorityRank: priorityRank[priority],
      }));
      const expected = priorities.toReversed().flatMap((priority) =>
        messages
          .filter((one) => one.priority === priority)
          .map(({ seq }) => seq)
          .sort((a, b) => a - b),
      );
      expect([...messages].sort(byUrgency).map(({ seq }) => seq)).toEqual(expected);
      expect(deliveries.sort(deliveriesByUrgency).map(({ messageSeq }) => messageSeq)).toEqual(expected);
    }),
  );
});
