import { type Registry, register } from "prom-client";
import type { ObservedRequest, Observer, StartedGateway } from "../../gateway/observers/observer.js";
import { GatewayMetrics } from "./gateway-metrics.js";
import type { LabelOf, Labels } from "./series.js";

/** Options of {@link prometheus}. */
export interface PrometheusOptions {
  /** Where the metrics are registered. Default: prom-client's own, `register`. */
  registry?: Registry | undefined;
  /** What the names of all metrics begin with. Default: `infergate_`. */
  prefix?: string | undefined;
  /** Further labels of requests, tokens and charges, by their names. Default: none. */
  labels?: Readonly<Record<string, LabelOf>> | undefined;
  /**
   * The name of the gateway, as a label `gateway` of all metrics. Default: none, so that gateways on one registry count
   * together.
   */
  gateway?: string | undefined;
  /** The most series of a metric. What comes beyond it counts under labels that are all `other`. Default: 2,000. */
  maxSeries?: number | undefined;
}

const defaultMaxSeries = 2_000;

/**
 * Metrics for Prometheus, in a registry of prom-client, which the host serves. Their names and labels are in
 * `docs/observability.md`. Ids of accounts and keys are no labels, nor is what a client has made up. Gateways that share a
 * registry share their metrics.
 *
 * @throws TypeError when an option is not valid.
 *
 * @example
 * ```ts
 * createGateway({ observers: [prometheus()], ... });
 * app.get("/metrics", async (_, response) => response.type(register.contentType).send(await register.metrics()));
 * ```
 */
export function prometheus(options: PrometheusOptions = {}): Observer {
  const { registry = register, prefix = "infergate_", labels = {}, gateway, maxSeries = defaultMaxSeries } = options;
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(prefix))
    throw new TypeError("prometheus: prefix must begin the name of a metric.");
  if (!Number.isInteger(maxSeries) || maxSeries < 1)
    throw new TypeError("prometheus: maxSeries must be a whole number from 1.");
  const fixed: Labels = gateway === undefined ? {} : { gateway };
  const metrics = new GatewayMetrics({ registry, prefix, labels, fixed, maxSeries });
  // It knows nothing of one request.
  const follower: ObservedRequest = {
    onLedgerOperation: (operation) => metrics.ledgerOperation(operation),
    onCompleted: (event) => metrics.ended(event),
  };
  const ends = new Map<StartedGateway, () => void>();
  return {
    onStart(started) {
      ends.set(started, metrics.observeHealth(started.health));
    },
    onRequest({ endpoint = "" }) {
      metrics.begins(endpoint);
      return follower;
    },
    onLedgerEvent: ({ type }) => metrics.ledgerEvent(type),
    onWarning: ({ code }) => metrics.warned(code),
    close(started) {
      ends.get(started)?.();
      ends.delete(started);
    },
  };
}
