import { addressOf } from "../../api/client.ts";
import { useOverview, useRuns } from "../../api/resources.ts";
import type { Head } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useUrl } from "../../state/url.ts";
import { Shown } from "../../ui/states.tsx";
import { Conversation } from "./conversation.tsx";
import { CoordinatorHead } from "./coordinator-head.tsx";
import { StartRun } from "./start-run.tsx";

/** The conversation with the coordinator of the run; where none runs, the place to give it an objective. */
export default function CoordinatorPage() {
  const { search } = useUrl();
  const { data: overview } = useOverview();
  const { data: runs } = useRuns();
  const id = search.run ?? overview?.currentRunId ?? undefined;
  const run = runs?.items.find((each) => each.id === id);
  const given: Record<string, string> = run?.coordinatorName ? { name: run.coordinatorName } : {};
  const query = useResource({ path: "/api/coordinator", given, topic: addressOf("coordinator", given) });
  return (
    <Shown what="the coordinator" query={query}>
      {({ asked, all }) => {
        const head = headFor(asked, all, id);
        if (head === undefined) return <StartRun last={undefined} />;
        return (
          <>
            <CoordinatorHead head={head} />
            {head.running || search.msg !== undefined || search.run !== undefined ? (
              <Conversation key={head.id} head={head} />
            ) : (
              <StartRun last={head} />
            )}
          </>
        );
      }}
    </Shown>
  );
}

/** The one that leads the run that is looked at; else one that lives; else the last one. */
const headFor = (asked: Head | null, all: readonly Head[], run: string | undefined): Head | undefined =>
  [asked, ...all].find((head) => head !== null && head.runId === run) ?? all[0] ?? asked ?? undefined;
