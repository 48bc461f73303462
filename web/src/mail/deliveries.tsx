import type { Delivery } from "../api/types.ts";
import { exactTime } from "../state/words.ts";
import { Glyph, type GlyphName, type Tone } from "../ui/glyph.tsx";
import css from "./letter.module.css";

const looks: Readonly<
  Record<Delivery["state"], { readonly glyph: GlyphName; readonly tone: Tone; readonly word: string }>
> = {
  queued: { glyph: "queued", tone: "idle", word: "waits to be read" },
  claimed: { glyph: "claimed", tone: "idle", word: "taken for a turn" },
  delivered: { glyph: "delivered", tone: "done", word: "handed over" },
  acked: { glyph: "acked", tone: "done", word: "read" },
  dead: { glyph: "dead", tone: "bad", word: "given up" },
  cancelled: { glyph: "cancelled", tone: "idle", word: "withdrawn" },
};

export const deliveryLook = (state: Delivery["state"]) => looks[state];

/** How far a message has come with each of its readers. */
export const Deliveries = ({ deliveries }: { deliveries: readonly Delivery[] }) => (
  <ul className={css.deliveries} aria-label="Deliveries">
    {deliveries.map((delivery) => {
      const { glyph, tone, word } = looks[delivery.state];
      const when = delivery.ackedAt ?? delivery.deliveredAt;
      return (
        <li key={delivery.to} data-tone={tone} title={when === null ? undefined : exactTime(when)}>
          <Glyph name={glyph} tone={tone} />
          <span>
            {delivery.to}: {delivery.redelivered ? `${word}, sent again` : word}
          </span>
        </li>
      );
    })}
  </ul>
);
