import { render } from "preact";
import type { AccountMe } from "../account/account-page-api.js";
import { credits, instant } from "./parts/format.js";
import { Meter } from "./parts/meter.js";
import { Skeleton } from "./parts/notice.js";
import { Shell } from "./parts/shell.js";
import { useApi } from "./parts/use-api.js";
import { useView } from "./parts/use-view.js";

function AccountPage() {
  const me = useApi<AccountMe>("me", 15_000);
  const view = useView(["overview"]);
  return (
    <Shell views={[["overview", "Overview"]]} view={view.id} state={me}>
      {me.data === undefined ? (
        <Skeleton />
      ) : (
        <div class="grid">
          {me.data.meters.map(({ id, used, held, limit, bonus, resets_at }) => (
            <div key={id} class="card">
              <Meter label={id} used={used} held={held} limit={limit} bonus={bonus}>
                {resets_at === null ? credits(used) : instant(resets_at)}
              </Meter>
            </div>
          ))}
        </div>
      )}
    </Shell>
  );
}

const place = document.getElementById("page");
if (place !== null) render(<AccountPage />, place);
