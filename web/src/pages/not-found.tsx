import { Link, useLocation } from "@tanstack/react-router";
import { useAgents } from "../api/resources.ts";
import { openPanel } from "../shell/panels.ts";
import { Button } from "../ui/controls.tsx";
import { PageHead } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

/** Says that the address leads nowhere, and looks for its last word among the agents. */
export function NotFound() {
  const { pathname } = useLocation();
  const { agents = [] } = useAgents();
  const word = decodeURIComponent(pathname.split("/").findLast((part) => part !== "") ?? "");
  const agent = agents.find(({ name }) => name === word);
  return (
    <>
      <PageHead title="No such page" />
      <Empty
        why={
          <>
            Nothing is at <code>{pathname}</code>.
            {agent === undefined ? null : (
              <>
                {" "}
                There is an agent of this name: <Link to={`/agents/${agent.name}` as never}>{agent.name}</Link>.
              </>
            )}
          </>
        }
        action={<Button onClick={() => openPanel("palette")}>Search</Button>}
      />
    </>
  );
}
