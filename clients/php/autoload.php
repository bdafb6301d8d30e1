<?php

// Loads the classes of this library where Composer is not used: require this file once.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'HealthInterop\\')) {
        $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, 14)) . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
