import { useMemo } from "react";
import { addressOf } from "../../api/client.ts";
import type { Agent } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useNow } from "../../state/clock.ts";
import { useUrl } from "../../state/url.ts";
import { type EdgeKind, edgeKinds, edgesOf, type FleetEdge, mailWindowMs } from "./fleet-edges.ts";

/** As many messages as are read to count those of the last minutes. */
const mailRead = { limit: "200" };

/** What joins the agents, without the kinds that the address switches off: `without=mail,overlap`. */
export function useFleetEdges(agents: readonly Agent[]) {
  const { search, replace } = useUrl();
  const off = useMemo(() => new Set(search.without?.split(",")), [search.without]);
  const now = useNow(15_000);
  const mail = useResource({
    path: "/api/mail",
    given: mailRead,
    topic: off.has("mail") ? undefined : addressOf("mail", mailRead),
    isWanted: !off.has("mail"),
  }).data;
  const radar = useResource({
    path: "/api/merge/radar",
    refreshedBy: off.has("overlap") ? undefined : "queue",
    isFresh: true,
    isWanted: !off.has("overlap"),
  }).data;
  const edges = useMemo<readonly FleetEdge[]>(
    () => edgesOf(agents, mail?.items ?? [], radar, now).filter(({ kind }) => !off.has(kind)),
    [agents, mail, radar, now, off],
  );
  const oldest = mail?.items.reduce((least, { createdAt }) => Math.min(least, Date.parse(createdAt ?? "")), now);
  const isCut = mail !== undefined && mail.items.length >= Number(mailRead.limit) && (oldest ?? 0) > now - mailWindowMs;
  return {
    edges,
    isOff: (kind: EdgeKind): boolean => off.has(kind),
    /** More mail came in the last minutes than is read. */
    countedOnly: isCut && !off.has("mail") ? mail.items.length : undefined,
    turn: (kind: EdgeKind): void => {
      const kept = (Object.keys(edgeKinds) as EdgeKind[]).filter((each) => off.has(each) !== (each === kind));
      replace({ without: kept.length === 0 ? undefined : kept.join(",") });
    },
  };
}
