<?php

// Lists and Bundles over all their pages.

declare(strict_types=1);

namespace HealthInterop\Internal;

use HealthInterop\Exception\TransportException;

/** @internal Walks over pages, and fetches the next one when it is needed. */
final class Pages
{
    /**
     * The resources of a Bundle and of all following pages: entries that match, in order.
     *
     * @param array<array-key, mixed> $bundle
     * @param array<array-key, mixed> $options Options of each call
     * @return \Generator<int, array<string, mixed>>
     */
    public static function bundle(Connection $connection, array $bundle, array $options): \Generator
    {
        while (true) {
            foreach (self::list($bundle['entry'] ?? null) as $entry) {
                $mode = $entry['search']['mode'] ?? 'match';
                if ($mode === 'match' && is_array($entry['resource'] ?? null)) {
                    yield $entry['resource'];
                }
            }
            $next = self::next($bundle);
            if ($next === null) {
                return;
            }
            $bundle = $connection->json(new Call('GET', $next, Label::of($next)), $options);
        }
    }

    /**
     * The entries of a list and of all its following pages.
     *
     * @param \Closure(string|null): array<array-key, mixed> $page    Fetches the page after a cursor
     * @param \Closure(array<array-key, mixed>): mixed        $entries Finds the entries of a page
     * @return \Generator<int, array<string, mixed>>
     */
    public static function cursor(\Closure $page, \Closure $entries, ?string $cursor): \Generator
    {
        do {
            $reply = $page($cursor);
            foreach (self::list($entries($reply)) as $entry) {
                yield $entry;
            }
            $cursor = $reply['next_cursor'] ?? null;
        } while (($reply['has_more'] ?? false) === true && is_string($cursor) && $cursor !== '');
    }

    /**
     * Path and query of the next page, whatever host the link names: a token goes to the client's own host only.
     *
     * @param array<array-key, mixed> $bundle
     */
    private static function next(array $bundle): ?string
    {
        foreach (self::list($bundle['link'] ?? null) as $link) {
            if (($link['relation'] ?? null) !== 'next') {
                continue;
            }
            $url = is_string($link['url'] ?? null) ? $link['url'] : '';
            $parts = preg_match('/[\x00-\x20\x7f\\\\]/', $url) === 1 ? false : parse_url($url);
            $path = is_array($parts) ? $parts['path'] ?? '' : '';
            if (!str_starts_with($path, '/api/') || preg_match('~(?:^|/)(?:\.|%2e){1,2}(?:/|$)~i', $path) === 1) {
                throw new TransportException('The link to the next page leads outside of /api/.', 'invalid_response');
            }
            return $path . (isset($parts['query']) ? '?' . $parts['query'] : '');
        }
        return null;
    }

    /** @return list<array<string, mixed>> */
    private static function list(mixed $value): array
    {
        /** @var list<array<string, mixed>> */
        return is_array($value) ? array_values(array_filter($value, is_array(...))) : [];
    }
}
