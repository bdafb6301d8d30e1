<?php

// Paths without identifiers, for logs.

declare(strict_types=1);

namespace HealthInterop\Internal;

/** @internal Replaces Health IDs and ids in a path by placeholders. */
final class Label
{
    /** What stands in paths as it is: words, the version, types of resources and operations. */
    private const WORD = '/^(?:v1|R4|_?[a-z]+(?:[-_.][a-z]+)*|[A-Z][A-Za-z]{2,40}|\$[a-z-]+|\.well-known)$/D';

    /** What stands after the type of a resource as it is; all else there is an id. */
    private const OPERATION = '/^[$_][a-z-]+$/D';

    /** The path of a target with placeholders, without its query. */
    public static function of(string $target): string
    {
        $segments = explode('/', explode('?', $target, 2)[0]);
        $fhir = count($segments) > 3 && $segments[2] === 'fhir' ? 4 : PHP_INT_MAX;
        foreach ($segments as $place => $segment) {
            $text = rawurldecode($segment);
            if (HealthId::isForm($text)) {
                $segments[$place] = '{health_id}';
            } elseif ($text !== '' && preg_match($place > $fhir ? self::OPERATION : self::WORD, $text) !== 1) {
                $segments[$place] = '{id}';
            }
        }
        return implode('/', $segments);
    }
}
